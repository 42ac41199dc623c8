export default function () { console.log('from stdin'); }
