export default function () {
  for (const make of [() => crypto.subtle.digest('SHA-1', new Uint8Array(1)), () => crypto.subtle.digest('none', new Uint8Array(1)), () => crypto.subtle.generateKey({ name: 'none' }, true, []), () => crypto.subtle.encrypt(), () => crypto.subtle.importKey('raw')]) {
    try { const promise = make(); console.log(promise instanceof Promise); promise.then(() => console.log('resolved'), (e) => console.log('rejected', e.name)); } catch (e) { console.log('threw', e.name); }
  }
}
