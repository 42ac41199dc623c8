// The OpenTelemetry collector with its OTLP receiver, and an exporter that writes what it received to a file.
package main

import (
	"context"
	"log"
	"os"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

// Writes what the collector received as lines of OTLP JSON to the files that METRICS and TRACES name.
func jsonFile() exporter.Factory {
	return exporter.NewFactory(component.MustNewType("jsonfile"), func() component.Config { return &struct{}{} },
		exporter.WithMetrics(func(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Metrics, error) {
			write, err := lines("METRICS")
			if err != nil {
				return nil, err
			}
			m := pmetric.JSONMarshaler{}
			return exporterhelper.NewMetrics(ctx, set, cfg, func(_ context.Context, md pmetric.Metrics) error {
				return write(m.MarshalMetrics(md))
			})
		}, component.StabilityLevelStable),
		exporter.WithTraces(func(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
			write, err := lines("TRACES")
			if err != nil {
				return nil, err
			}
			m := ptrace.JSONMarshaler{}
			return exporterhelper.NewTraces(ctx, set, cfg, func(_ context.Context, td ptrace.Traces) error {
				return write(m.MarshalTraces(td))
			})
		}, component.StabilityLevelStable))
}

// Returns a function that appends a line to the file that a variable names.
func lines(variable string) (func([]byte, error) error, error) {
	f, err := os.Create(os.Getenv(variable))
	if err != nil {
		return nil, err
	}
	return func(line []byte, err error) error {
		if err != nil {
			return err
		}
		_, err = f.Write(append(line, '\n'))
		return err
	}, nil
}

func main() {
	factories := func() (otelcol.Factories, error) {
		r, j := otlpreceiver.NewFactory(), jsonFile()
		return otelcol.Factories{
			Receivers: map[component.Type]receiver.Factory{r.Type(): r},
			Exporters: map[component.Type]exporter.Factory{j.Type(): j},
			Telemetry: otelconftelemetry.NewFactory(),
		}, nil
	}
	cmd := otelcol.NewCommand(otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "collector", Version: "0"},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			DefaultScheme:     "file",
			ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()},
		}},
	})
	if err := cmd.Execute(); err != nil {
		log.Fatal(err)
	}
}
