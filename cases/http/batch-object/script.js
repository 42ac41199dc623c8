import http from 'k6/http';
export default function () {
  const B = __ENV.BASE;
  const all = http.batch({ first: `${B}/get`, second: ['POST', `${B}/echo`, { a: 1 }], third: { method: 'GET', url: `${B}/status/500`, body: 'ignored' } });
  console.log(Object.keys(all).sort().join(), all.first.status, all.second.json('body'), all.third.status);
}
