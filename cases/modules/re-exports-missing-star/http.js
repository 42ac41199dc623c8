export * from 'k6/http';
