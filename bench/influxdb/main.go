// InfluxDB 1.8, the last release written entirely in Go. It accepts the write APIs of versions 1 and 2.
package main

import (
	"log"
	"os"

	"github.com/influxdata/influxdb/cmd/influxd/run"
)

func main() {
	c := run.NewCommand()
	if err := c.Run(os.Args[1:]...); err != nil {
		log.Fatal(err)
	}
	<-c.Closed
}
