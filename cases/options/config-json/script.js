export default function () { console.log(__ITER); }
