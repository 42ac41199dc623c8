export const options = {
  scenarios: { a: { executor: 'constant-vus', vus: 2, duration: '20s' } },
};
export default function () {}
