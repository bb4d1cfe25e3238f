/** Colours of both schemes: each text has a contrast of 4.5 to its ground at least, and each mark one of 3. */
export const colours = `:root{color-scheme:light dark;--ground:#fff;--card:#f6f8fa;--text:#1b1f24;--dim:#57606a;--line:#d0d7de;--link:#0550ae;--ok:#1a7f37;--waits:#8a5a00;--fails:#b42318;--unknown:#57606a;--ok-pale:#dafbe1;--waits-pale:#fff1c2;--fails-pale:#ffe2df;--unknown-pale:#eaeef2}
@media (prefers-color-scheme:dark){:root{--ground:#0f1317;--card:#171c22;--text:#e6e9ec;--dim:#9da7b1;--line:#333b44;--link:#79b8ff;--ok:#56d27b;--waits:#e3b341;--fails:#ff8a80;--unknown:#9da7b1;--ok-pale:#12351f;--waits-pale:#3b2e07;--fails-pale:#4a1a17;--unknown-pale:#262d35}}
`;

/** How each state looks; one that is not here looks unknown. */
const states = Object.entries({ ok: 'ok', waits: 'waits', ignored: 'waits', fails: 'fails' })
  .map(([state, like]) => `[data-state=${state}]{--state:var(--${like});--pale:var(--${like}-pale)}`)
  .join('\n');

const font = 'system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif';

export const waterfallStyle = `[data-state]{--state:var(--unknown);--pale:var(--unknown-pale)}
${states}
.waterfall{font:12px ${font};display:block;overflow:visible}
.waterfall text{fill:var(--text)}
.head{font:600 12px ${font};fill:var(--text)}
.waterfall .time{fill:var(--dim);font-variant-numeric:tabular-nums}
.waterfall .tick{stroke:var(--line)}
.waterfall .bar{fill:var(--state);opacity:.45}
.waterfall .mark{fill:var(--state)}
`;

/** The style of the whole page. */
export const pageStyle = `${colours}${waterfallStyle}*{box-sizing:border-box}
html{background:var(--ground);color:var(--text);font:15px/1.5 ${font};-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:100rem;padding:1rem}
h1{font-size:1.5rem;margin:.2rem 0}
h2{font-size:1.25rem;margin:2rem 0 .7rem}
h3{font-size:1.05rem;margin:0;overflow-wrap:anywhere}
h4{font-size:.85rem;margin:1rem 0 .3rem;color:var(--dim)}
a{color:var(--link)}
p{margin:.4rem 0;overflow-wrap:anywhere}
.dim{color:var(--dim)}
.skip{position:absolute;left:-99rem}
.skip:focus{position:static}
code{font:.9em/1.4 ui-monospace,SFMono-Regular,Consolas,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
time{white-space:nowrap}
.next code{display:inline-block;padding:.15rem .5rem;background:var(--ground);border:1px solid var(--line);border-radius:4px}
.counts{display:flex;flex-wrap:wrap;gap:.6rem;list-style:none;margin:.8rem 0;padding:0}
.counts li{border:1px solid var(--line);border-radius:6px;padding:.35rem .8rem;background:var(--card)}
.counts strong{font-size:1.25rem;margin-right:.3rem;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:6px}
.scroll:focus-visible{outline:2px solid var(--link)}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.35rem .7rem;border-top:1px solid var(--line);font-variant-numeric:tabular-nums}
thead th{border-top:0;font-size:.75rem;color:var(--dim);white-space:nowrap;background:var(--card)}
tbody th{font-weight:600;max-width:24rem;overflow-wrap:anywhere;min-width:9rem}
.fleet td{white-space:nowrap}
.fleet tbody th{position:sticky;left:0;background:var(--ground)}
.badge{display:inline-block;padding:0 .5rem;border-radius:1rem;background:var(--pale);color:var(--state);font-weight:600;overflow-wrap:anywhere}
[data-state=fails].badge::before{content:"✕ "/""}
[data-state=waits].badge::before{content:"… "/""}
[data-state=ok].badge::before{content:"✓ "/""}
td .badge{white-space:nowrap}
article{border:1px solid var(--line);border-left:5px solid var(--state);border-radius:6px;padding:.8rem 1rem;margin:0 0 1rem;background:var(--card)}
article>header{display:flex;flex-wrap:wrap;gap:.3rem .8rem;align-items:baseline}
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));gap:.6rem 2rem;margin-top:.6rem}
.panels>*{min-width:0}
.facts{display:grid;grid-template-columns:fit-content(45%) minmax(0,1fr);gap:.1rem .9rem;margin:0;font-size:.9rem}
.facts dt{color:var(--dim);min-width:0;overflow-wrap:anywhere}
.facts dd{margin:0;overflow-wrap:anywhere}
.causes{margin:.3rem 0;padding-left:1.2rem;font-size:.9rem;overflow-wrap:anywhere}
details{margin:.5rem 0}
.panels>details{margin:0}
summary{cursor:pointer;color:var(--link);font-size:.9rem}
.months{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:1rem;margin:0 0 1rem}
.month{font:11px ${font};width:100%;height:auto;max-width:15rem}
.month text{fill:var(--dim);text-anchor:middle}
.month .name{fill:var(--text);font-weight:600;text-anchor:start;font-size:12px}
.month rect{fill:var(--pale);stroke:var(--state)}
.month [data-state] text{fill:var(--state);font-weight:700}
footer{margin-top:2rem;border-top:1px solid var(--line);font-size:.85rem;color:var(--dim)}
@media print{html{font-size:11px}body{max-width:none;padding:0}article,tr,figure{break-inside:avoid}.scroll{overflow:visible;border:0}.fleet td{white-space:normal}details::details-content{content-visibility:visible;height:auto}a{color:inherit;text-decoration:none}.skip{display:none}}
`;
