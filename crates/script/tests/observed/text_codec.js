function show(value) {
  if (value instanceof Uint8Array) return 'bytes ' + value;
  return typeof value + ' ' + JSON.stringify(value);
}
function observe(name, body) {
  try {
    console.log(name + ' => ' + show(body()));
  } catch (e) {
    console.log(name + ' threw ' + e.name);
  }
}
const bytes = (...values) => new Uint8Array(values);

export default function () {
  const encoder = new TextEncoder();
  observe('encode', () => encoder.encode('é😀a'));
  observe('encoding', () => encoder.encoding);
  observe('encode nothing', () => encoder.encode());
  observe('encode undefined', () => encoder.encode(undefined));
  observe('encode null', () => encoder.encode(null));
  observe('encode number', () => encoder.encode(12));
  observe('encode lone surrogate', () => encoder.encode('\ud800x'));
  observe('encodeInto', () => {
    const target = new Uint8Array(5);
    const { read, written } = encoder.encodeInto('é😀a', target);
    return [read, written, [...target]];
  });
  observe('without new', () => TextEncoder());
  observe('instanceof', () => [encoder instanceof TextEncoder, new TextDecoder() instanceof TextDecoder]);
  observe('decode', () => new TextDecoder().decode(bytes(195, 169, 240, 159, 152, 128)));
  observe('decode buffer', () => new TextDecoder().decode(bytes(195, 169).buffer));
  observe('decode nothing', () => new TextDecoder().decode());
  observe('decode undefined', () => new TextDecoder().decode(undefined));
  observe('decode string', () => new TextDecoder().decode('abc'));
  observe('decode array', () => new TextDecoder().decode([97]));
  observe('decode units', () => new TextDecoder().decode(new Uint16Array([97, 98])));
  observe('decode view', () => new TextDecoder().decode(new DataView(bytes(97, 98).buffer, 1)));
  observe('decode part', () => new TextDecoder().decode(bytes(97, 98, 99).subarray(1, 2)));
  observe('malformed', () => new TextDecoder().decode(bytes(97, 255, 98, 0xe2, 0x82)));
  observe('surrogate', () => new TextDecoder().decode(bytes(0xed, 0xa0, 0x80)));
  observe('fatal', () => new TextDecoder('utf-8', { fatal: true }).decode(bytes(97, 255)));
  observe('mark', () => new TextDecoder().decode(bytes(0xef, 0xbb, 0xbf, 97)));
  observe('ignoreBOM', () => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes(0xef, 0xbb, 0xbf, 97)));
  for (const label of ['utf-8', 'UTF-8', 'utf8', ' utf-8 ', 'utf-16le', 'utf-16', 'utf-16be', 'bogus', '', undefined]) {
    observe('label ' + label, () => {
      const decoder = new TextDecoder(label);
      return [decoder.encoding, decoder.fatal, decoder.ignoreBOM];
    });
  }
  observe('utf-16le', () => new TextDecoder('utf-16le').decode(bytes(97, 0, 0x3d, 0xd8, 0x00, 0xde)));
  observe('utf-16be', () => new TextDecoder('utf-16be').decode(bytes(0, 97, 0xd8, 0x3d, 0xde, 0x00)));
  observe('utf-16le odd', () => new TextDecoder('utf-16le').decode(bytes(97, 0, 98)));
  observe('utf-16le mark', () => new TextDecoder('utf-16le').decode(bytes(255, 254, 97, 0)));
  observe('stream', () => {
    const decoder = new TextDecoder();
    return [
      decoder.decode(bytes(0xe2, 0x82), { stream: true }),
      decoder.decode(bytes(0xac), { stream: true }),
      decoder.decode(),
    ];
  });
  observe('cut stream', () => {
    const decoder = new TextDecoder();
    return [decoder.decode(bytes(0xe2, 0x82), { stream: true }), decoder.decode()];
  });
}
