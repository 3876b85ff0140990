/* Made by a script in a build of sofia-sip; the files that the drivers use need none of it. */
