await new Promise(() => {});
export default function () { console.log('never'); }
