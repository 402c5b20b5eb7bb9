/** Chooses pictures for a question in the playground. */

import { useId, useState } from 'react';
import { fill, useLanguage } from '../language/language.tsx';
import type { Picture } from '../play.ts';
import { Icon } from './icon.tsx';
import { Clipped } from './page.tsx';

/** The types that both protocols accept. */
const mediaTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
/** Vendors refuse larger ones, and a request as a whole may have 32 MB. */
const maxBytes = 5 * 1_048_576;
const maxPictures = 4;

/** Chooses pictures for a question. They stay in the memory of the page and go only into the request. */
export function PicturePicker({
  pictures,
  onChange,
}: {
  pictures: readonly Picture[];
  onChange: (pictures: readonly Picture[]) => void;
}) {
  const { t } = useLanguage();
  const id = useId();
  const [refused, setRefused] = useState<string | null>(null);
  const add = async (files: readonly File[]) => {
    const usable = files.filter(({ type, size }) => mediaTypes.includes(type) && size <= maxBytes);
    const all = [...pictures, ...(await Promise.all(usable.map(read)))];
    setRefused(files.find((file) => !usable.includes(file))?.name ?? all[maxPictures]?.name ?? null);
    onChange(all.slice(0, maxPictures));
  };
  return (
    <div className="pictures">
      {/* The browser's own control speaks the browser's language: the label is the button. */}
      <label className="button small">
        <Icon name="picture" />
        {t.playground.pictures}
        <input
          type="file"
          className="sr-only"
          multiple
          accept={mediaTypes.join(',')}
          aria-describedby={`${id}-hint`}
          onChange={(event) => {
            void add([...(event.target.files ?? [])]);
            // Allows the same file to be chosen again after it was removed.
            event.target.value = '';
          }}
        />
      </label>
      <span className="sr-only" id={`${id}-hint`}>
        {fill(t.playground.picturesHint, { n: maxPictures, mb: maxBytes / 1_048_576 })}
      </span>
      {pictures.map((picture, index) => (
        <span key={index} className="picture">
          <Clipped text={picture.name} />
          <button
            type="button"
            className="icon-button"
            aria-label={fill(t.playground.removePicture, { name: picture.name })}
            onClick={() => onChange(pictures.filter((each) => each !== picture))}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      {refused === null ? null : (
        <p className="error-text" role="alert">
          {fill(t.playground.pictureRefused, { name: refused })}{' '}
          {fill(t.playground.picturesHint, { n: maxPictures, mb: maxBytes / 1_048_576 })}
        </p>
      )}
    </div>
  );
}

function read(file: File): Promise<Picture> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('error', () => reject(reader.error ?? new Error('a file that cannot be read')));
    reader.addEventListener('load', () => {
      // A data: address; the bytes follow its comma.
      const [, base64 = ''] = (reader.result as string).split(',', 2);
      resolve({ name: file.name, mediaType: file.type, base64 });
    });
    reader.readAsDataURL(file);
  });
}
