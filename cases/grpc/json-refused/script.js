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
  attempt('0', () => call('Echo', { nope: 1 }).status);
  attempt('1', () => call('Echo', { anInt32: 1.5 }).status);
  attempt('2', () => call('Echo', { anInt32: 3000000000 }).status);
  attempt('3', () => call('Echo', { aBool: 'yes' }).status);
  attempt('4', () => call('Echo', { aColour: 'PINK' }).status);
  attempt('5', () => call('Echo', { numbers: 5 }).status);
  attempt('6', () => call('Echo', { numbers: [null] }).status);
  attempt('7', () => call('Echo', { aWord: 'x' }).status);
  attempt('8', () => call('Echo', { byName: [] }).status);
  attempt('9', () => call('Echo', { chosenText: 'a', chosenNumber: 1 }).status);
  attempt('10', () => call('Echo', { aWord: { nope: 1 } }).status);
  attempt('11', () => call('Echo', { anInt64: 'x' }).status);
  attempt('12', () => call('Echo', { aString: 5 }).status);
  attempt('13', () => call('Echo', { aUint32: -1 }).status);
  client.close();
}
