// Reads questions about chains and signing requests as JSON and answers each by what Go's crypto/x509 says: an empty
// string where it is content.
package main

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"time"
)

type question struct {
	// PEM: what is shown, the certificate first; or a signing request when there is no usage.
	Presented string
	Trusted   string
	Usage     string
	Host      string
	At        time.Time
}

func main() {
	var questions []question
	if err := json.NewDecoder(os.Stdin).Decode(&questions); err != nil {
		panic(err)
	}
	answers := make([]string, len(questions))
	for i, q := range questions {
		if err := answer(q); err != nil {
			answers[i] = err.Error()
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		panic(err)
	}
}

func answer(q question) error {
	if q.Usage == "" {
		return request(q.Presented)
	}
	shown, err := certificates(q.Presented)
	if err != nil {
		return err
	}
	trusted, err := certificates(q.Trusted)
	if err != nil {
		return err
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	for _, root := range trusted {
		roots.AddCert(root)
	}
	for _, other := range shown[1:] {
		between.AddCert(other)
	}
	usage := map[string]x509.ExtKeyUsage{"server": x509.ExtKeyUsageServerAuth, "client": x509.ExtKeyUsageClientAuth}[q.Usage]
	_, err = shown[0].Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, DNSName: q.Host, CurrentTime: q.At, KeyUsages: []x509.ExtKeyUsage{usage},
	})
	return err
}

func request(text string) error {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return errors.New("no PEM")
	}
	parsed, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return err
	}
	return parsed.CheckSignature()
}

func certificates(text string) ([]*x509.Certificate, error) {
	var found []*x509.Certificate
	for rest := bytes.TrimSpace([]byte(text)); len(rest) > 0; {
		block, next := pem.Decode(rest)
		if block == nil {
			return nil, errors.New("text that is no PEM")
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		found, rest = append(found, certificate), bytes.TrimSpace(next)
	}
	if len(found) == 0 {
		return nil, errors.New("no certificate")
	}
	return found, nil
}
