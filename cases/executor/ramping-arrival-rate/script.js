export const options = { scenarios: { r: {
  executor: 'ramping-arrival-rate', startRate: 0, timeUnit: '1s', preAllocatedVUs: 5,
  stages: [{ duration: '1s', target: 50 }],
} } };
export default function () {}
