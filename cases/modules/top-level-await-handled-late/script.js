const early = Promise.reject(new Error('handled late'));
await new Promise((done) => setTimeout(done, 20));
try {
  await early;
} catch (error) {
  console.log('got', error.message);
}
export default function () { console.log('never'); }
