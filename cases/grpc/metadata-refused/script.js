import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
function attempt(name, action) {
  try {
    console.log(name, action());
  } catch (error) {
    console.log(name, 'threw', error.message.split(': proto:')[0]);
  }
}
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  for (const m of ['x', 5, { a: 1 }, { 'a-bin': 'text' }]) attempt(JSON.stringify(m), () => call('EchoWord', {}, { metadata: m }).status == 0);
  client.close();
}
