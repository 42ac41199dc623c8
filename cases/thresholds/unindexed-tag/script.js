export const options = { thresholds: { 'iterations{vu:1}': ['count>=0'] } };
export default function () {}
