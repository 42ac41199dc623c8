import grpc from 'k6/net/grpc';
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
export default function () {
  client.connect(__ENV.BASE.slice('http://'.length), { plaintext: true });
  for (const params of [null, undefined, {}, { timeout: '1s' }, { timeout: 1000 }, { timeout: 'soon' }, { metadata: null }, { metadata: { a: 'b' } }, { metadata: { a: 5 } }, { tags: { t: 1 } }, { tags: 5 }, { headers: { a: 'b' } }, { own: 1 }, 5, 'text']) {
    try { console.log(JSON.stringify(params), client.invoke('cases.Cases/EchoWord', { text: 'x' }, params).status); } catch (e) { console.log(JSON.stringify(params), 'threw', e.name); }
  }
  client.close();
}
