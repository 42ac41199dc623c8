package main

import (
	"crypto/tls"
	"fmt"
	"log"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
)

var one sync.Mutex
var start = time.Now()
var first int64
var count int64

func h(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	n := atomic.AddInt64(&count, 1)
	if q.Get("reset") != "" { atomic.StoreInt64(&first, time.Now().UnixNano()); atomic.StoreInt64(&count, 0); fmt.Fprint(w, "ok"); return }
	if v, err := strconv.ParseFloat(q.Get("fail"), 64); err == nil && rand.Float64() < v {
		w.WriteHeader(500); fmt.Fprint(w, "broken"); return
	}
	if v, err := strconv.Atoi(q.Get("failn")); err == nil && n%int64(v) == 0 {
		w.WriteHeader(503); fmt.Fprint(w, "broken"); return
	}
	if v, err := strconv.ParseFloat(q.Get("hang"), 64); err == nil && rand.Float64() < v {
		time.Sleep(120*time.Second)
	}
	if v, err := strconv.Atoi(q.Get("status")); err == nil { w.WriteHeader(v) }
	if v := q.Get("stall"); v != "" { // at s seconds since reset, everything stands for d ms
		p := strings.Split(v, ",")
		at, _ := strconv.ParseFloat(p[0], 64); d, _ := strconv.ParseFloat(p[1], 64)
		e := float64(time.Now().UnixNano()-atomic.LoadInt64(&first)) / 1e9
		if e > at && e < at+d { time.Sleep(time.Duration((at + d - e) * 1e9)) }
	}
	if v := q.Get("startup"); v != "" {
		d, _ := strconv.ParseFloat(v, 64)
		e := float64(time.Now().UnixNano()-atomic.LoadInt64(&first)) / 1e9
		if e < 1 { time.Sleep(time.Duration(d * 1e6)) }
	}
	if v, err := strconv.ParseFloat(q.Get("serial"), 64); err == nil {
		one.Lock(); time.Sleep(time.Duration(v * 1e6)); one.Unlock()
	}
	if v, err := strconv.ParseFloat(q.Get("ms"), 64); err == nil {
		time.Sleep(time.Duration(v * 1e6))
	}
	if q.Get("close") != "" { w.Header().Set("Connection", "close") }
	if v, err := strconv.Atoi(q.Get("jitterlen")); err == nil { w.Write([]byte(strings.Repeat("x", 10+rand.Intn(v)))); return }
	l := 64
	if v, err := strconv.Atoi(q.Get("len")); err == nil { l = v }
	w.Write([]byte("answer:" + strings.Repeat("x", l)))
}

func main() {
	first = time.Now().UnixNano()
	key, _ := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	t := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(240 * time.Hour), IPAddresses: []net.IP{net.ParseIP("127.0.0.1")}, DNSNames: []string{"localhost"}}
	der, _ := x509.CreateCertificate(crand.Reader, t, t, &key.PublicKey, key)
	cert := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	h1 := &http.Server{Addr: "127.0.0.1:28443", Handler: http.HandlerFunc(h), TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"http/1.1"}}, TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}, ErrorLog: log.New(os.Stderr, "", 0)}
	go h1.ListenAndServeTLS("", "")
	h2 := &http.Server{Addr: "127.0.0.1:28444", Handler: http.HandlerFunc(h), TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"}}}
	go h2.ListenAndServeTLS("", "")
	log.Fatal(http.ListenAndServe("127.0.0.1:28080", http.HandlerFunc(h)))
}
