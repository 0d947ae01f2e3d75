/** Comments around a token, as protoc hands them to declarations; one character a byte. */
export interface Comments {
  /** On the line of the token before, or right below it. */
  trailing: string;
  /** Set apart by blank lines. */
  detached: string[];
  /** Right above the token after. */
  leading: string;
}

/** Sorts comments between two tokens; holds the last until it is clear where it belongs. */
export class CommentCollector {
  /** Comments that are settled so far. */
  readonly comments: Comments = { trailing: "", detached: [], leading: "" };
  #buffer = "";
  #count = 0;
  #hasTrailing = false;
  #hasComment = false;
  #isLine = false;
  #canAttach = true;

  /** Adds a `//` comment; those on adjacent lines are one comment. */
  addLine(text: string): void {
    if (this.#hasComment && !this.#isLine) this.flush();
    this.#hasComment = true;
    this.#isLine = true;
    this.#buffer += text;
  }

  /** Adds a block comment, which never joins another. */
  addBlock(text: string): void {
    this.flush();
    this.#hasComment = true;
    this.#isLine = false;
    this.#buffer = text;
  }

  /** The comment held is complete and does not belong to the next token. */
  flush(): void {
    if (!this.#hasComment) return;
    if (this.#canAttach) {
      this.comments.trailing += this.#buffer;
      this.#hasTrailing = true;
      this.#canAttach = false;
    } else {
      this.comments.detached.push(this.#buffer);
    }
    this.#buffer = "";
    this.#hasComment = false;
    this.#count++;
  }

  /** A blank line: comments behind it do not belong to the token before. */
  detachFromPrevious(): void {
    this.#canAttach = false;
  }

  /** A single comment between two tokens on one line could belong to either: to neither, then. */
  detachSingle(): void {
    if (this.#count + (this.#hasComment ? 1 : 0) !== 1) return;
    if (this.#hasTrailing) {
      this.comments.detached.unshift(this.comments.trailing);
      this.comments.trailing = "";
    }
    this.flush();
  }

  /** All comments; the one still held leads the next token. */
  finish(): Comments {
    if (this.#hasComment) this.comments.leading = this.#buffer;
    return this.comments;
  }
}
