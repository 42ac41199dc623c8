import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
const ADDRESS = __ENV.BASE.slice('http://'.length);
const call = (method, request, params) => client.invoke(`cases.Cases/${method}`, request, params);
export default function () {
  client.connect(ADDRESS, { plaintext: true });
  for (const one of [{ chosenText: 'a' }, { chosenNumber: 0 }, { chosenWord: {} }, { maybe: 3 }]) {
    const m = call('Echo', one).message;
    console.log('chosenText' in m, 'chosenNumber' in m, 'chosenWord' in m, 'maybe' in m);
  }
  client.close();
}
