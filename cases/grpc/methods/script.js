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
  for (const m of ['cases.Cases/EchoWord', '/cases.Cases/EchoWord', 'cases.Cases.EchoWord', 'EchoWord', 'cases.Cases/None', 'none.Such/Thing', '', '/']) attempt(m, () => client.invoke(m, {}).status == 0);
  attempt('undefined', () => client.invoke(undefined, {}));
  client.close();
}
