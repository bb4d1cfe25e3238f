// Runs versitygw with a directory as its store: no other backend, no client of its own, no administration from the
// command line. Options and defaults are those of its own program.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	config := embedgw.Config{
		RootUserAccess:    os.Getenv("ROOT_ACCESS_KEY"),
		RootUserSecret:    os.Getenv("ROOT_SECRET_KEY"),
		Region:            "us-east-1",
		MaxConnections:    250000,
		MaxRequests:       100000,
		MultipartMaxParts: 10000,
		IAMCacheTTL:       120,
		IAMCachePrune:     3600,
		SigHup:            make(chan struct{}),
	}
	port := flag.String("port", ":7070", "address to listen on")
	flag.StringVar(&config.CertFile, "cert", "", "certificate for TLS")
	flag.StringVar(&config.KeyFile, "key", "", "private key for TLS")
	flag.StringVar(&config.IAMDir, "iam-dir", "", "directory of the accounts")
	flag.BoolVar(&config.KeepAlive, "keep-alive", false, "keep connections open")
	flag.BoolVar(&config.Quiet, "quiet", false, "print no request")
	flag.Parse()
	config.Ports = []string{*port}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, flag.Arg(1), &config); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, directory string, config *embedgw.Config) error {
	if err := (meta.XattrMeta{}).Test(directory); err != nil {
		return err
	}
	options := posix.PosixOpts{Concurrency: 5000, IOBufferSize: 1 << 20, CopyObjectThreshold: 5 << 30}
	options.SetNewDirPerm(0o755)
	options.SetNewFilePerm(0o644)
	store, err := posix.New(directory, meta.XattrMeta{}, options)
	if err != nil {
		return err
	}
	return embedgw.RunVersityGW(ctx, store, config)
}
