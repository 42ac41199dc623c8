export const options = { setupTimeout: '1m30s', teardownTimeout: 5000, minIterationDuration: '1.5s', scenarios: { a: { executor: 'constant-vus', duration: '1h0m10s', startTime: '0', gracefulStop: '100ms' }, b: { executor: 'constant-vus', duration: 90000, startTime: '1us' } } };
export default function () {}
