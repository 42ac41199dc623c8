export const options = { thresholds: { iterations: ['count>100'] } };
export default function () {}
