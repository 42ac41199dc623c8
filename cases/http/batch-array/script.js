import http from 'k6/http';
export default function () {
  const B = __ENV.BASE;
  const all = http.batch([`${B}/get`, ['GET', `${B}/status/404`], ['POST', `${B}/echo`, 'body', { tags: { kind: 'x' } }], { method: 'PUT', url: `${B}/echo`, body: 'put' }, { url: `${B}/delay/30` }, http.url`${B}/item/${7}`]);
  console.log(all.length, Array.isArray(all), all.map((r) => r.status).join(), all[2].json('body'), all[3].json('method'));
}
