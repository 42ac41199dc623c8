import http from 'k6/http';
export default function () {
  const response = http.post(`${__ENV.BASE}/anything`, '{"a":1}', { headers: { 'Content-Type': 'application/json' } });
  const spread = { ...response };
  console.log(spread.json('method'), spread.json().method, spread.html('x').size());
  const assigned = Object.assign({ own: 1 }, response);
  console.log(assigned.json('method'), assigned.own, typeof assigned.clickLink);
  const { status, json, ...rest } = response;
  console.log(status, json('method'), rest.json === undefined, rest.html('x').size(), Object.keys(rest).length);
  const wrapper = { ...response, json: () => 'own' };
  console.log(wrapper.json('method'), wrapper.status);
  const copied = {};
  for (const name in response) copied[name] = response[name];
  console.log(copied.json('method'), copied.status_text);
  const entries = Object.fromEntries(Object.entries(response));
  console.log(entries.json('method'), entries.proto);
  console.log(Object.values(response).filter((value) => typeof value === 'function').length);
}
