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
export default function () {
  attempt('nobody', () => client.connect('127.0.0.1:1', { plaintext: true, timeout: '300ms' }));
  attempt('no port', () => client.connect('127.0.0.1', { plaintext: true }));
}
