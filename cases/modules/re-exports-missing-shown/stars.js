export * from 'k6/metrics';
