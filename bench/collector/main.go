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
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

// Writes what the collector received as lines of OTLP JSON to the file that OUT names.
func jsonFile() exporter.Factory {
	return exporter.NewFactory(component.MustNewType("jsonfile"), func() component.Config { return &struct{}{} },
		exporter.WithMetrics(func(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Metrics, error) {
			f, err := os.Create(os.Getenv("OUT"))
			if err != nil {
				return nil, err
			}
			m := pmetric.JSONMarshaler{}
			return exporterhelper.NewMetrics(ctx, set, cfg, func(_ context.Context, md pmetric.Metrics) error {
				b, err := m.MarshalMetrics(md)
				if err != nil {
					return err
				}
				_, err = f.Write(append(b, '\n'))
				return err
			})
		}, component.StabilityLevelStable))
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
