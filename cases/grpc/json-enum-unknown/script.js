import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
// The order of an object's keys is nobody's promise.
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (!value || typeof value !== 'object') return value;
  const result = {};
  for (const key of Object.keys(value).sort()) result[key] = sorted(value[key]);
  return result;
}
const show = (name, value) => console.log(name, JSON.stringify(sorted(value)));
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  show('unknown', call('Echo', { aColour: 9, colours: [9] }).message);
  client.close();
}
