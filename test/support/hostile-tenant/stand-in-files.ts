/** Where the image of a stand-in has a certificate for programs that get none by a flag. */
export const standInFiles = { certificate: '/etc/stand-in/tls.crt', key: '/etc/stand-in/tls.key' } as const;
