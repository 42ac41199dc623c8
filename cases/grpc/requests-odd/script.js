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
  attempt('none', () => client.invoke('cases.Cases/EchoWord'));
  attempt('text', () => call('EchoWord', 'text'));
  attempt('number', () => call('EchoWord', 5));
  attempt('array', () => call('EchoWord', []));
  client.close();
}
