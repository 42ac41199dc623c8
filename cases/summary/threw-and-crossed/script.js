export const options = { thresholds: { iterations: ['count>5'] } };
export default function () {}
export function handleSummary() { throw new Error('no summary'); }
