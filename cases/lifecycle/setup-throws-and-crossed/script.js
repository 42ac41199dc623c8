export const options = { thresholds: { iterations: ['count>5'] } };
export function setup() { throw new Error('no setup'); }
export default function () {}
