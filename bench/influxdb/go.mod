module influxd

go 1.25.0

require (
	github.com/influxdata/influxdb v1.8.10
	golang.org/x/net v0.35.0
	golang.org/x/sys v0.30.0
)
