import http from 'k6/http';
class Wrapper {
  constructor(response) { this.response = response; this.json = response.json; }
  method() { return this.json('method'); }
}
export default function () {
  const response = http.get(`${__ENV.BASE}/anything`), other = http.post(`${__ENV.BASE}/anything`);
  console.log(Object.create(response).json('method'), new Wrapper(response).method());
  console.log(response.json.call(other, 'method'), other.json.call(response, 'method'));
  console.log(new Proxy(response, {}).json('method'), Reflect.get(response, 'json')('method'));
  console.log(response['json']('method'), response?.json?.('method'), (0, response.json)('method'));
  console.log(Object.create(response).status, Object.getOwnPropertyDescriptor(response, 'json').value('method'));
}
