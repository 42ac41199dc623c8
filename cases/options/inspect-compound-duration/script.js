export const options = { duration: '1h2m3.5s', setupTimeout: '1d', teardownTimeout: 1500, minIterationDuration: '1ms' };
export default function () {}
