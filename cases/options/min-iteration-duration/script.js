export const options = { vus: 1, iterations: 2, minIterationDuration: '150ms' };
let last = 0;
export default function () {
  const now = Date.now();
  if (last) console.log(now - last >= 145);
  last = now;
}
