import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
function attempt(name, action) {
  try {
    console.log(name, action());
  } catch (error) {
    console.log(name, 'threw', error.message.split(': proto:')[0]);
  }
}
if (__VU === 0) {
  attempt('connect', () => client.connect(ADDRESS, { plaintext: true }));
  attempt('invoke', () => client.invoke('cases.Cases/EchoWord', {}));
}
export default function () {
  attempt('load', () => client.load([], 'cases.proto'));
}
