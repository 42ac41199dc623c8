import http from 'k6/http';
export const options = { batch: 10, batchPerHost: 3 };
export default function () {
  const all = http.batch(Array(12).fill(`${__ENV.BASE}/in-flight/40`));
  console.log(Math.max(...all.map((r) => r.json('most'))));
}
