import http from 'k6/http';
export default function () {
  const response = http.post(`${__ENV.BASE}/anything`, '{"a":[1,2]}', { headers: { 'Content-Type': 'application/json' } });
  console.log(Object.keys(response).join());
  const listed = []; for (const name in response) listed.push(`${name} ${typeof response[name]}`);
  console.log(listed.join());
  console.log(Object.getOwnPropertyNames(response).length, Object.entries(response).length, Object.keys(JSON.parse(JSON.stringify(response))).join());
  for (const name of ['json', 'html', 'clickLink', 'submitForm', 'status', 'nothing']) {
    console.log(name, name in response, response.hasOwnProperty(name), Object.prototype.propertyIsEnumerable.call(response, name));
  }
  const copy = { ...response, extra: true };
  console.log(Object.keys(copy).length, typeof copy.html, copy.status);
  const assigned = Object.assign({}, response);
  console.log(typeof assigned.json, typeof assigned.submitForm, assigned.html === undefined);
  const failed = http.get('http://127.0.0.1:1/');
  console.log(Object.keys(failed).join());
}
