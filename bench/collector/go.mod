module collector

go 1.25.0

require (
	go.opentelemetry.io/collector/confmap/provider/fileprovider v1.56.0
	go.opentelemetry.io/collector/otelcol v0.150.0
	go.opentelemetry.io/collector/receiver/otlpreceiver v0.150.0
)
