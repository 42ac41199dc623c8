export default function () {
  if (typeof TextEncoder === 'undefined') { console.log('no TextEncoder'); return; }
  console.log(new TextEncoder().encode('é€😀').join(), new TextEncoder().encoding, new TextDecoder().encoding);
  console.log(new TextDecoder().decode(new Uint8Array([0xc3, 0xa9])), new TextDecoder('utf-8').decode(new Uint8Array([255])).length);
}
