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
  attempt('0', () => client.connect(ADDRESS, { bad: true }));
  attempt('1', () => client.connect(ADDRESS, { plaintext: 'x' }));
  attempt('2', () => client.connect(ADDRESS, { timeout: 'x' }));
  attempt('3', () => client.connect(ADDRESS, { maxReceiveSize: -1 }));
  attempt('4', () => client.connect(ADDRESS, { maxReceiveSize: 'x' }));
  attempt('5', () => client.connect(ADDRESS, { maxSendSize: -1 }));
  attempt('6', () => client.connect(ADDRESS, { reflect: 1 }));
  attempt('7', () => client.connect(ADDRESS, { reflectMetadata: 5 }));
  attempt('8', () => client.connect(ADDRESS, { reflectMetadata: { a: 1 } }));
  attempt('9', () => client.connect(ADDRESS, { tls: 5 }));
  attempt('10', () => client.connect(ADDRESS, { authority: 5 }));
}
