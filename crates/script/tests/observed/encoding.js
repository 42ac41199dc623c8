import encoding, { b64encode } from 'k6/encoding';

function show(value) {
  if (value instanceof ArrayBuffer) return 'bytes ' + new Uint8Array(value);
  return typeof value + ' ' + value;
}
function observe(name, body) {
  try {
    console.log(name + ' => ' + show(body()));
  } catch (e) {
    console.log(name + ' threw ' + e.message);
  }
}

export default function () {
  const dialects = [undefined, 'std', 'rawstd', 'url', 'rawurl', '', 'bogus', null, 5];
  for (const dialect of dialects) {
    for (const text of ['hello?>', 'ab', 'a', '', '\u00ff\u00fe?>~', '\ud800']) {
      observe(`encode ${dialect} ${JSON.stringify(text)}`, () => encoding.b64encode(text, dialect));
    }
    for (const text of ['aGVsbG8/Pg==', 'aGVsbG8_Pg', 'YQ=', 'YQ', 'Y\nQ==', '!@#$', '']) {
      observe(`decode ${dialect} ${JSON.stringify(text)}`, () => encoding.b64decode(text, dialect));
    }
  }
  observe('buffer', () => b64encode(new Uint8Array([255, 254, 0]).buffer));
  observe('bytes', () => b64encode(new Uint8Array([255, 254, 0])));
  observe('part of bytes', () => b64encode(new Uint8Array([255, 254, 0]).subarray(1)));
  observe('as string', () => encoding.b64decode('aGk=', 'std', 's'));
  observe('as something', () => encoding.b64decode('aGk=', 'std', 'b'));
  observe('not UTF-8', () => encoding.b64decode('/w==', 'std', 's'));
  observe('no dialect', () => encoding.b64decode('aGk=', undefined, 's'));
  observe('capital', () => encoding.b64decode('aGk=', 'std', 'S'));
  observe('null', () => encoding.b64decode(null));
  observe('undefined', () => encoding.b64decode(undefined));
  observe('nothing', () => encoding.b64decode());
  observe('number', () => encoding.b64decode(1234));
  observe('binary', () => encoding.b64decode(new Uint8Array([89, 81]).buffer));
  observe('names', () => Object.keys(encoding).sort().join());
}
