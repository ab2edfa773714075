package main

import (
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"time"
)

func main() {
	for n := 0; n < 3; n++ {
		go func() {
			for {
				kept := make([][]byte, 0)
				for i := 0; i < 50; i++ {
					kept = append(kept, make([]byte, 4096))
				}
				runtime.KeepAlive(kept)
				time.Sleep(time.Millisecond)
			}
		}()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		digest := sha256.Sum256([]byte(r.URL.Path))
		for i := 0; i < 500; i++ {
			digest = sha256.Sum256(digest[:])
		}
		w.Header().Set("Connection", "close")
		fmt.Fprintf(w, "%x", digest)
	}))
}
