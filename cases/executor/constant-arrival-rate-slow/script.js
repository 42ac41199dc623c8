export const options = { scenarios: { c: {
  executor: 'constant-arrival-rate', rate: 90, timeUnit: '1m', duration: '1s', preAllocatedVUs: 2, maxVUs: 4,
} } };
export default function () { console.log('ran'); }
