export const options = { scenarios: { c: {
  executor: 'constant-arrival-rate', rate: 50, timeUnit: '1s', duration: '1010ms', preAllocatedVUs: 5,
} } };
export default function () {}
