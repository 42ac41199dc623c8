export const options = { vus: Number(__ENV.N), duration: '10s', hosts: { 'a.test': '127.0.0.1:80' }, tags: { a: '<b>&' } };
export default function () {}
