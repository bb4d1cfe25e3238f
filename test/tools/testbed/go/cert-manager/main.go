// Runs cert-manager's own controllers of the CA and SelfSigned issuers against the cluster of a kubeconfig: what signs
// CertificateRequests of such issuers, what says whether they are ready and, unless another approver decides, what
// approves. Everything else of cert-manager (ACME, Vault, Venafi, Certificates, webhook) is left out.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	"github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	"golang.org/x/sync/errgroup"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "of the cluster whose issuers sign")
	namespace := flag.String("cluster-resource-namespace", "cert-manager", "where ClusterIssuers have their Secrets")
	approves := flag.Bool("approve", true, "approve every CertificateRequest, as cert-manager does unless told otherwise")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	names := []string{ca.CRControllerName, selfsigned.CRControllerName, issuers.ControllerName, clusterissuers.ControllerName}
	if *approves {
		names = append(names, approver.ControllerName)
	}
	if err := run(ctx, names, controller.ContextOptions{
		Kubeconfig:    *kubeconfig,
		IssuerOptions: controller.IssuerOptions{ClusterResourceNamespace: *namespace},
	}); err != nil {
		log.Fatal(err)
	}
}

// Ends when the context does, or any controller fails.
func run(ctx context.Context, names []string, options controller.ContextOptions) error {
	group, ctx := errgroup.WithContext(ctx)
	factory, err := controller.NewContextFactory(ctx, options)
	if err != nil {
		return err
	}
	for _, name := range names {
		built, err := controller.Known()[name](factory)
		if err != nil {
			return err
		}
		group.Go(func() error { return built.Run(1, ctx) })
	}
	shared, err := factory.Build()
	if err != nil {
		return err
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	log.Print("controllers: ", names)
	return group.Wait()
}
