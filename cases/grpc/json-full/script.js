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
  show('full', call('Echo', { aDouble: 1.5, aFloat: 0.25, anInt32: -3, anInt64: '9007199254740993', aUint32: 7, aUint64: 8, aSint32: -9, aSint64: -10, aFixed32: 11, aFixed64: 12, aSfixed32: 13, aSfixed64: 14, aBool: true, aString: 'é"\n', someBytes: 'AAEC', aColour: 'RED', aWord: { text: 'w' }, numbers: [1, 2], words: [{ text: 'a' }, {}], colours: ['RED', 2], byName: { b: 1, a: 2 }, byNumber: { 1: { text: 'one' } }, chosenNumber: 5, maybe: 0, renamed: 'r' }).message);
  client.close();
}
